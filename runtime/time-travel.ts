/** Moves the clock of every process of the sandbox, and the jobs that wait with it. */
import type { MovableClock } from './clock.ts'
import type { SystemContext } from './context.ts'

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
  await ctx.services.queue.advance(milliseconds)
  ctx.worker?.clockMoved()
}
