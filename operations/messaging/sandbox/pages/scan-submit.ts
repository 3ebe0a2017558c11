import { jsonAnswer, page } from '#runtime/page'
import { getSandbox } from '../../provider/sandbox.ts'
import { deadCodePage, scanBody, scanCode, scannedPage, unknownCodePage } from '../pages.ts'

export default page({
  method: 'POST',
  path: '/sandbox/messaging/scan/:payload',
  description: 'Simulates a phone that scans a QR code, by form or JSON.',
  trust: 'Only with the sandbox on; the code in the path, shown only to those who may start a session.',
  sandboxOnly: true,
  async handler(ctx, request) {
    const payload = request.params.payload!
    if ((await getSandbox(ctx.adapters.messaging).qr.find(payload)) === null) return unknownCodePage()
    const { isJson, fields } = await request.formOrJson(scanBody)
    if (!(await scanCode(ctx, payload, fields))) return deadCodePage()
    return isJson ? jsonAnswer({ scanned: true }) : scannedPage(fields)
  },
})
