/** Moves the clock of all sandbox processes and makes queued jobs due accordingly. */
import type { MovableClock } from '#runtime/clock'
import type { SystemContext } from '#runtime/context'

/** Moves this process's clock and stores its offset in the database, where other processes read it within seconds. */
export async function moveClock(ctx: SystemContext, milliseconds: number): Promise<void> {
  const clock = ctx.clock as MovableClock
  await clock.move(milliseconds, (offset) => {
    const value = JSON.stringify(offset)
    return ctx.root
      .insertInto('server_settings')
      .values({ name: 'clock-offset-ms', value })
      .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
      .execute()
  })
  // When moving back, jobs that are due now stay due.
  await ctx.services.queue.advance(milliseconds, { keepDue: milliseconds < 0 })
  ctx.worker?.clockMoved()
}

/** Moves the clock back to the machine's time. Data written while the clock was moved stays. */
export const resetClock = (ctx: SystemContext): Promise<void> => moveClock(ctx, -ctx.clock.offset)
