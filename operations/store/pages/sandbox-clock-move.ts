import { refuse } from '#runtime/errors'
import { jsonAnswer, page } from '#runtime/page'
import { object, offsetInstant, z } from '#runtime/schema'
import { moveClock } from '#runtime/time-travel'

const body = object({
  now: offsetInstant.optional(),
  advanceSeconds: z
    .number()
    .min(0)
    .max(10 * 366 * 86_400)
    .optional(),
})

export default page({
  method: 'POST',
  path: '/sandbox/api/clock',
  description: 'Moves the clock forward; jobs that come due run.',
  trust: 'Only where the sandbox is on, which production never is.',
  sandboxOnly: true,
  async handler(ctx, request) {
    const { now, advanceSeconds } = await request.json(body)
    if ((now === undefined) === (advanceSeconds === undefined)) {
      throw refuse('bad_request', 'now: give either now or advanceSeconds')
    }
    const milliseconds = now === undefined ? advanceSeconds! * 1000 : Date.parse(now) - ctx.clock.ms()
    if (milliseconds < 0) throw refuse('bad_request', 'now: the clock only moves forward')
    await moveClock(ctx, milliseconds)
    return jsonAnswer({
      now: ctx.now().toISOString(),
      offsetSeconds: Math.round(ctx.clock.offset / 1000),
    })
  },
})
