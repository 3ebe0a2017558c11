import { refuse } from '#runtime/errors'
import { jsonAnswer, page } from '#runtime/page'
import { object, z } from '#runtime/schema'

const longestSeconds = 300
const body = object({ timeoutSeconds: z.number().min(0).max(longestSeconds).default(30) })

export default page({
  method: 'POST',
  path: '/sandbox/api/jobs/drain',
  description: 'Waits until no due job is left.',
  trust: 'Only where the sandbox is on, which production never is.',
  sandboxOnly: true,
  mayTakeSeconds: longestSeconds + 30,
  async handler(ctx, request) {
    const { timeoutSeconds } = await request.json(body)
    if (!ctx.worker) throw refuse('unavailable', 'This process runs no jobs')
    return jsonAnswer(await ctx.worker.drain(timeoutSeconds * 1000))
  },
})
