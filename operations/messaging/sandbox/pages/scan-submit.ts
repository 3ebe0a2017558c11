import { jsonAnswer, page } from '#runtime/page'
import { sandboxOf } from '../../provider/sandbox.ts'
import { deadCodePage, scanBody, scanCode, scannedPage, unknownCodePage } from '../pages.ts'

export default page({
  method: 'POST',
  path: '/sandbox/messaging/scan/:payload',
  description: 'A phone scans a QR code, by form or JSON.',
  trust: 'Only where the sandbox is on; the code in the path, which only who may start a session is shown.',
  sandboxOnly: true,
  async handler(ctx, request) {
    const payload = request.params.payload!
    if ((await sandboxOf(ctx.adapters.messaging).qr.find(payload)) === null) return unknownCodePage()
    const { isJson, fields } = await request.formOrJson(scanBody)
    if (!(await scanCode(ctx, payload, fields))) return deadCodePage()
    return isJson ? jsonAnswer({ scanned: true }) : scannedPage(fields)
  },
})
