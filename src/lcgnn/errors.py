"""What lcgnn raises on purpose. The command line prints these as one line, without a traceback."""


class LCGNNError(Exception):
    """Base of all errors that a caller can do something about."""


class DataError(LCGNNError):
    """A graph, a split or a file that they come from is not usable."""


class InputError(DataError, ValueError):
    """What was passed in from Python is not usable; a ValueError too, as callers of scikit-learn expect."""


class DownloadError(DataError):
    """A benchmark file is not on this machine and cannot be fetched."""


class ConfigError(LCGNNError):
    """A name or a setting that does not exist or makes no sense."""


class ExtraError(ConfigError):
    """What was asked for needs a library that is not installed."""


class OutputError(LCGNNError):
    """A result cannot be written, or what was written cannot be read back."""


class TrainingError(LCGNNError):
    """Training left the numbers that a computer has, so that nothing was learnt."""


class RankError(LCGNNError):
    """The processes that train together cannot work together."""


class InputWarning(UserWarning):
    """What was passed in from Python could be used, but not as it stands."""
