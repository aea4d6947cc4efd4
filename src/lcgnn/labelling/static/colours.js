// A colour for every class. The first eight were chosen so that the two nearest stay apart (0.12 and more in OKLab)
// for people with full colour vision, protanopia, deuteranopia and tritanopia alike, on a light and on a dark page.

export const PALETTE = ["#395dd0", "#d98a02", "#22aaa1", "#983076", "#ba80ff", "#bada57", "#756c13", "#5ddefe"];

const channels = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));

/** Further classes go round the hues by the golden angle, at three lightnesses; some will look alike. */
function further(index) {
  const hue = (index * 137.508) % 360;
  const lightness = [0.42, 0.58, 0.72][index % 3];
  const chroma = 0.55 * (1 - Math.abs(2 * lightness - 1));
  const channel = (shift) => {
    const place = (shift + hue / 30) % 12;
    return Math.round(255 * (lightness - chroma * Math.max(-1, Math.min(place - 3, 9 - place, 1))));
  };
  return [channel(0), channel(8), channel(4)];
}

const known = new Map();

/** Red, green and blue of a class, each 0 to 255. */
export function colourOf(index) {
  if (!known.has(index)) known.set(index, index < PALETTE.length ? channels(PALETTE[index]) : further(index));
  return known.get(index);
}

export const cssColour = (index) =>
  index === null || index === undefined ? "var(--faint)" : `rgb(${colourOf(index).join(" ")})`;

/** The page's own colours, which the map cannot take from the style sheet by itself. */
export function themeColours() {
  const style = getComputedStyle(document.documentElement);
  const read = (name) => channels(style.getPropertyValue(name).trim());
  return {
    map: read("--map"),
    ink: read("--ink"),
    faint: read("--faint"),
    edge: read("--edge"),
    accent: read("--accent"),
  };
}
