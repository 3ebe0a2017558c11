import { refuse } from '#runtime/errors'
import { jsonAnswer, page } from '#runtime/page'
import { object, z } from '#runtime/schema'
import { getSandbox } from '../../provider/sandbox.ts'
import { goneAnswer, scanCode, scanFields } from '../pages.ts'

const body = object({ payload: z.string().min(1).max(500), ...scanFields })

export default page({
  method: 'POST',
  path: '/sandbox/api/messaging/scan',
  description: 'Simulates a phone that scans a QR code.',
  trust: 'Only where the sandbox is on, which production never is.',
  sandboxOnly: true,
  async handler(ctx, request) {
    const { payload, ...phone } = await request.json(body)
    if ((await getSandbox(ctx.adapters.messaging).qr.find(payload)) === null) {
      throw refuse('not_found', 'payload: there never was such a code')
    }
    if (!(await scanCode(ctx, payload, phone))) {
      return goneAnswer('payload: the code ran out, was replaced, or was scanned already')
    }
    return jsonAnswer({ scanned: true })
  },
})
