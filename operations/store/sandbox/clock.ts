/** Moves the clock of all sandbox processes, and the due times of queued jobs with it. */
import type { MovableClock } from '#runtime/clock'
import type { SystemContext } from '#runtime/context'

/** Stores the offset in the database; other processes pick it up within seconds. */
export async function moveClock(ctx: SystemContext, milliseconds: number): Promise<void> {
  const clock = ctx.clock as MovableClock
  clock.advance(milliseconds)
  const value = JSON.stringify(clock.offset)
  await ctx.root
    .insertInto('server_settings')
    .values({ name: 'clock-offset-ms', value })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
    .execute()
  // When moving back, jobs that are due now stay due.
  await ctx.services.queue.advance(milliseconds, { keepDue: milliseconds < 0 })
  ctx.worker?.clockMoved()
}

/** Returns to the machine's own time; changes made meanwhile stay. */
export const resetClock = (ctx: SystemContext): Promise<void> => moveClock(ctx, -ctx.clock.offset)
