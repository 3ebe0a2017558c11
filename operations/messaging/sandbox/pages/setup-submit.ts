import { page } from '#runtime/page'
import { getSandbox } from '../../provider/sandbox.ts'
import { deadSetupPage, e164, setupBody, unknownSetupPage } from '../pages.ts'

export default page({
  method: 'POST',
  path: '/sandbox/messaging/setup/:token',
  description: "Ends the provider's setup of an official number, and returns to the page that opened it.",
  trust: 'Only with the sandbox on; the token in the path, known only to the caller that opened the setup.',
  sandboxOnly: true,
  async handler(ctx, request) {
    const { params } = request
    const { numbers } = getSandbox(ctx.adapters.messaging)
    if (!(await numbers.findSetup(params.token!))) return unknownSetupPage()
    const { fields } = await request.formOrJson(setupBody)
    const ended = await numbers.endSetup(params.token!, { ...fields, phone: e164(fields.phone) })
    if (!ended) return deadSetupPage()
    const back = new URL(ended.returnUrl)
    back.searchParams.set('state', ended.state)
    if (ended.code) back.searchParams.set('code', ended.code)
    else back.searchParams.set('error', ended.error!)
    return new Response(null, {
      status: 303,
      headers: { location: back.href, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' },
    })
  },
})
