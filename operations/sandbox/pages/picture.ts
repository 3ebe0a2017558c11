import { refuse } from '#runtime/errors'
import { page } from '#runtime/page'
import { isMotif } from '../pictures/motifs.ts'
import { composeProduct, renderSvg } from '../pictures/picture.ts'

const name = /^([a-z]+)-(\d{1,6})(-near)?\.svg$/

export default page({
  method: 'GET',
  path: '/sandbox/pictures/:name',
  description: "A generated picture of a product of the demo's shops.",
  trust: 'Only where the sandbox is on, which production never is.',
  sandboxOnly: true,
  handler(_system, { params }) {
    const [, motif = '', number, near] = name.exec(params.name!) ?? []
    if (!isMotif(motif)) throw refuse('not_found', 'There is no such picture')
    return new Response(renderSvg(composeProduct(motif, Number(number), near !== undefined)), {
      headers: {
        'content-type': 'image/svg+xml; charset=utf-8',
        'cache-control': 'public, max-age=86400',
        'x-content-type-options': 'nosniff',
        'content-security-policy': "default-src 'none'; sandbox",
      },
    })
  },
})
