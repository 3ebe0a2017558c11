import type { SystemContext } from '#runtime/context'
import { minuteMs } from '#runtime/durations'
import { refuse } from '#runtime/errors'
import { jsonAnswer, page } from '#runtime/page'
import { object, offsetInstant, z } from '#runtime/schema'
import { moveClock, resetClock } from '../clock.ts'

const body = object({
  now: offsetInstant.optional(),
  advanceSeconds: z
    .number()
    .min(0)
    .max(10 * 366 * 86_400)
    .optional(),
})

/** An instant within a minute of the real time counts as the present, because a request takes a moment to arrive. */
const presentMs = minuteMs
const isPresent = (instant: number, { clock }: SystemContext): boolean =>
  Math.abs(instant - (clock.ms() - clock.offset)) <= presentMs

export default page({
  method: 'POST',
  path: '/sandbox/api/clock',
  description: 'Moves the clock forward, which runs the jobs that become due, or back to the present.',
  trust: 'Only where the sandbox is on, which production never is.',
  sandboxOnly: true,
  async handler(ctx, request) {
    const { now, advanceSeconds } = await request.json(body)
    if ((now === undefined) === (advanceSeconds === undefined)) {
      throw refuse('bad_request', 'now: give either now or advanceSeconds')
    }
    const milliseconds = now === undefined ? advanceSeconds! * 1000 : Date.parse(now) - ctx.clock.ms()
    if (milliseconds >= 0) await moveClock(ctx, milliseconds)
    else if (isPresent(Date.parse(now!), ctx)) await resetClock(ctx)
    else
      throw refuse('bad_request', 'now: the clock moves forward, or back to the present: send that instant')
    return jsonAnswer({
      now: ctx.now().toISOString(),
      offsetSeconds: Math.round(ctx.clock.offset / 1000),
    })
  },
})
