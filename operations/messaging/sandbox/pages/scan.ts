import { page } from '#runtime/page'
import { getSandbox } from '../../provider/sandbox.ts'
import { deadCodePage, scanForm, unknownCodePage } from '../pages.ts'

export default page({
  method: 'GET',
  path: '/sandbox/messaging/scan/:payload',
  description: 'A form that simulates a phone scanning a QR code.',
  trust: 'Only with the sandbox on; the code in the path, shown only to those who may start a session.',
  sandboxOnly: true,
  async handler(ctx, { params }) {
    const found = await getSandbox(ctx.adapters.messaging).qr.find(params.payload!)
    if (found === null) return unknownCodePage()
    return found === 'alive' ? scanForm() : deadCodePage()
  },
})
