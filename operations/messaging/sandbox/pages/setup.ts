import { page } from '#runtime/page'
import { sandboxOf } from '../../provider/sandbox.ts'
import { deadSetupPage, setupForm, unknownSetupPage } from '../pages.ts'

export default page({
  method: 'GET',
  path: '/sandbox/messaging/setup/:token',
  description: "The form that stands for the provider's setup of an official number.",
  trust: 'Only where the sandbox is on; the token in the path, which only who opened the setup was told.',
  sandboxOnly: true,
  async handler(ctx, { params }) {
    const setup = await sandboxOf(ctx.adapters.messaging).numbers.findSetup(params.token!)
    if (!setup) return unknownSetupPage()
    return setup.isOpen ? setupForm(setup.returnUrl) : deadSetupPage()
  },
})
