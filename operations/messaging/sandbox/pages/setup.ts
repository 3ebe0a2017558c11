import { page } from '#runtime/page'
import { getSandbox } from '../../provider/sandbox.ts'
import { deadSetupPage, setupForm, unknownSetupPage } from '../pages.ts'

export default page({
  method: 'GET',
  path: '/sandbox/messaging/setup/:token',
  description: "A form that simulates the provider's setup of an official number.",
  trust: 'Only with the sandbox on; the token in the path, known only to the caller that opened the setup.',
  sandboxOnly: true,
  async handler(ctx, { params }) {
    const setup = await getSandbox(ctx.adapters.messaging).numbers.findSetup(params.token!)
    if (!setup) return unknownSetupPage()
    return setup.isOpen ? setupForm(setup.returnUrl) : deadSetupPage()
  },
})
