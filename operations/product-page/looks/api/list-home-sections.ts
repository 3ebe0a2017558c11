import { operation } from '#runtime/operation'
import { wholeListOf } from '#runtime/schema'
import { shownSection } from '../schema.ts'
import { readHomeSections } from '../settings.ts'

export default operation({
  method: 'GET',
  path: '/shop-the-look/home-sections',
  description:
    'List the home page sections of looks in their order, with the looks that shoppers see in each.',
  details: 'A look that is off or broken is not shown; `hiddenLooks` counts those.',
  words: 'outfits on the home page',
  scopes: ['platform:read'],
  readOnly: true,
  feature: 'shop-the-look',
  answer: { status: 200, body: wholeListOf(shownSection) },
  handler: (ctx) => readHomeSections(ctx),
})
