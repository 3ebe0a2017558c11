import { page } from '#runtime/page'
import { openShop } from '../catalog.ts'

export default page({
  method: 'GET',
  path: '/sandbox/shop/:store/exchanges',
  description: 'Leads to the page where a shopper asks for an exchange or a return.',
  trust: 'Only where the sandbox is on, which production never is.',
  sandboxOnly: true,
  async handler(system, { params }) {
    const { ctx } = await openShop(system, params.store!)
    const location = `${ctx.settings.publicUrl}/storefront/${ctx.store.publicId}/exchanges`
    return new Response(null, { status: 302, headers: { location } })
  },
})
