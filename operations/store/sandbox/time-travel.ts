/** Moves the clock of every process of the sandbox, and the jobs that wait with it. */
import type { MovableClock } from '#runtime/clock'
import type { SystemContext } from '#runtime/context'

/** Forward by `milliseconds`: kept in the database, taken over by other processes within seconds. */
export async function moveClock(ctx: SystemContext, milliseconds: number): Promise<void> {
  const clock = ctx.clock as MovableClock
  clock.move(milliseconds)
  const value = JSON.stringify(clock.offset)
  await ctx.root
    .insertInto('server_settings')
    .values({ name: 'clock-offset-ms', value })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
    .execute()
  // Back in time, what was to run at once still is.
  await ctx.services.queue.advance(milliseconds, { keepDue: milliseconds < 0 })
  ctx.worker?.clockMoved()
}

/** Back to the machine's own time; what has happened meanwhile stays. */
export const toPresent = (ctx: SystemContext): Promise<void> => moveClock(ctx, -ctx.clock.offset)
