/** The outbox: how every message leaves, whatever its section (rule 10). */
export { lane, single } from './declare.ts'
export { type Handed, handOver, type Letter, type Told } from './hand.ts'
export {
  deadAfterMs,
  type Lane,
  lostAfterMs,
  type Move,
  type Standing,
  type Trouble,
} from './lane.ts'
export { endForgotten, type Fate, fated, move, settle, unknownOutcome } from './moves.ts'
export { dueMessages, lock, markCalled, rowsOf } from './rows.ts'
export { letterOf, type Said, shownAs } from './said.ts'
export {
  type Failure,
  giveUp,
  handOne,
  type Ready,
  type Single,
} from './single.ts'
export { campaignShare, share, turnSize } from './turns.ts'
export { releaseUnits, reserveUpTo } from './units.ts'
