"""What is known of runs, on disk and in memory: one type a kind of file, each with its JSON.

The fields of ``result.json``, ``summary.json``, ``config.json``, of a fold's file and of a packed record are named
here only.
"""

from lcgnn.assessment.evaluation import ClassCount, Fifth
from lcgnn.runs.records.choice import ChoiceRecord, Tried
from lcgnn.runs.records.configuration import Configuration, UsedSplit
from lcgnn.runs.records.fold import FoldRecord
from lcgnn.runs.records.record import (
    CurvePoint,
    Environment,
    Record,
    StageRecord,
    configuration_key,
)
from lcgnn.runs.records.summary import Answers, Communication, MessageCost, StageSummary, Summary

__all__ = [
    "Answers",
    "ChoiceRecord",
    "ClassCount",
    "Communication",
    "Configuration",
    "CurvePoint",
    "Environment",
    "Fifth",
    "FoldRecord",
    "MessageCost",
    "Record",
    "StageRecord",
    "StageSummary",
    "Summary",
    "Tried",
    "UsedSplit",
    "configuration_key",
]
