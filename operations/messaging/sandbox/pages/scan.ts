import { page } from '#runtime/page'
import { sandboxOf } from '../../provider/sandbox.ts'
import { deadCodePage, scanForm, unknownCodePage } from '../pages.ts'

export default page({
  method: 'GET',
  path: '/sandbox/messaging/scan/:payload',
  description: 'The form that stands for a phone which scans a QR code.',
  trust: 'Only where the sandbox is on; the code in the path, which only who may start a session is shown.',
  sandboxOnly: true,
  async handler(ctx, { params }) {
    const found = await sandboxOf(ctx.adapters.messaging).qr.find(params.payload!)
    if (found === null) return unknownCodePage()
    return found === 'alive' ? scanForm() : deadCodePage()
  },
})
