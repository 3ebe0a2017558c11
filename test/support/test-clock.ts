/**
 * The clock of the tests. It is frozen at one instant, whatever the day and the machine's speed; after each test it is
 * reset to where the file had put it before the first.
 */
import { beforeEach } from 'vitest'
// biome-ignore lint/style/noRestrictedImports: it makes the clock that stands
import { type MovableClock, machineClock } from '#runtime/clock'

/** A Friday, nine in the morning in São Paulo. */
export const testsBeginAt = new Date('2026-11-20T12:00:00.000Z')

export function frozenClock(at: Date | string = testsBeginAt): MovableClock {
  const clock = machineClock()
  clock.frozenAt = new Date(at).getTime()
  return clock
}

interface Known {
  /** Moves scheduled work along with the clock. */
  follow(elapsed: number): Promise<void>
  /** Callbacks of all apps on the clock. */
  moved: (() => void)[]
  /** State of the clock at the file's first test. */
  beginsAt: Pick<MovableClock, 'offset' | 'frozenAt'> | null
}

const known = new Map<MovableClock, Known>()

/** Until the file ends, each of its tests starts with the clock where the first one did. */
export function restoreForEachTest(clock: MovableClock, follow: Known['follow'], moved: () => void): void {
  const first = known.get(clock)
  if (first) first.moved.push(moved)
  else known.set(clock, { follow, moved: [moved], beginsAt: null })
}

export async function restoreClocks(): Promise<void> {
  for (const [clock, each] of known) {
    each.beginsAt ??= { offset: clock.offset, frozenAt: clock.frozenAt }
    const before = clock.ms()
    clock.offset = each.beginsAt.offset
    clock.frozenAt = each.beginsAt.frozenAt
    const elapsed = clock.ms() - before
    // A running clock has not been moved by the time between two reads.
    if (Math.abs(elapsed) <= (clock.frozenAt === null ? 100 : 0)) continue
    await each.follow(elapsed)
    for (const moved of each.moved) moved()
  }
}

export function resetClocks(): void {
  known.clear()
}

/**
 * Inside a `describe` whose tests share a store: the first starts this much later, the second twice as much, and so on,
 * so that each test's rows are newer than those of earlier tests.
 */
export function eachLater(app: { advance(milliseconds: number): Promise<void> }, milliseconds: number): void {
  let tests = 0
  beforeEach(async () => {
    tests += 1
    await app.advance(tests * milliseconds)
  })
}
