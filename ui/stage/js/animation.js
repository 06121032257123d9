// What an animation of the merges shows, and how long: a frame for each state that the text goes through. No DOM here.

const FIRST_FRAME = 1000; // ms
const LAST_FRAME = 3000;
const ALL_FRAMES = 20_000; // ms that all frames share, as long as each is shown
const SHORTEST_FRAME = 120; // at least so long
const LONGEST_FRAME = 700; // and no longer

/** The steps at which a text changes, from 0 on: after each merge that joins something in it. */
export function turningSteps(model) {
  const ranks = new Set();
  for (const life of model.lifetimes) if (life >= 0 && life < model.numMerges) ranks.add(life);
  return [0, ...Array.from(ranks, (rank) => rank + 1).sort((a, b) => a - b)];
}

/** How long each frame is shown, in ms: the first and the last long enough to read. */
export function durations(numFrames) {
  const each = Math.min(LONGEST_FRAME, Math.max(SHORTEST_FRAME, Math.round(ALL_FRAMES / numFrames)));
  const times = new Array(numFrames).fill(each);
  times[0] = FIRST_FRAME;
  times[numFrames - 1] = LAST_FRAME;
  return times;
}
