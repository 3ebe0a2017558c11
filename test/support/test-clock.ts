/**
 * The clock of the tests. It stands at one fixed instant, whatever the day and however slow the machine, and every test
 * finds it where the file put it before its first: what a test moved is put back.
 */
import { beforeEach } from 'vitest'
// biome-ignore lint/style/noRestrictedImports: it makes the clock that stands
import { type MovableClock, machineClock } from '#runtime/clock'

/** A Friday, nine in the morning in São Paulo. */
export const testsBeginAt = new Date('2026-11-20T12:00:00.000Z')

export function standingClock(at: Date | string = testsBeginAt): MovableClock {
  const clock = machineClock()
  clock.frozenAt = new Date(at).getTime()
  return clock
}

interface Known {
  /** Moves what waits for the clock along. */
  follow(elapsed: number): Promise<void>
  /** Told to every app on the clock. */
  moved: (() => void)[]
  /** Where the first test of the file found it. */
  beginsAt: Pick<MovableClock, 'offset' | 'frozenAt'> | null
}

const known = new Map<MovableClock, Known>()

/** Until the file ends, each of its tests begins with the clock where the first one did. */
export function putBackForEachTest(clock: MovableClock, follow: Known['follow'], moved: () => void): void {
  const first = known.get(clock)
  if (first) first.moved.push(moved)
  else known.set(clock, { follow, moved: [moved], beginsAt: null })
}

export async function putClocksBack(): Promise<void> {
  for (const [clock, each] of known) {
    each.beginsAt ??= { offset: clock.offset, frozenAt: clock.frozenAt }
    const before = clock.ms()
    clock.offset = each.beginsAt.offset
    clock.frozenAt = each.beginsAt.frozenAt
    const elapsed = clock.ms() - before
    // One that runs has not been moved by the moment that reading it twice takes.
    if (Math.abs(elapsed) <= (clock.frozenAt === null ? 100 : 0)) continue
    await each.follow(elapsed)
    for (const moved of each.moved) moved()
  }
}

export function forgetClocks(): void {
  known.clear()
}

/**
 * Inside a `describe` whose tests share a store: the first begins so much later, the second twice as much, and so on.
 * What one makes is newer than all that those before have made.
 */
export function eachLater(app: { advance(milliseconds: number): Promise<void> }, milliseconds: number): void {
  let tests = 0
  beforeEach(async () => {
    tests += 1
    await app.advance(tests * milliseconds)
  })
}
