import { refuse } from '#runtime/errors'
import { page } from '#runtime/page'
import { isPart, serveAsset } from '../assets.ts'

export default page({
  method: 'GET',
  path: '/sandbox/parts/:name',
  description: 'A module of the sandbox page.',
  trust: 'Only where the sandbox is on, which production never is.',
  sandboxOnly: true,
  handler(_system, { params }) {
    if (!isPart(params.name!)) throw refuse('not_found', 'There is no such part')
    return serveAsset(`parts/${params.name}`)
  },
})
