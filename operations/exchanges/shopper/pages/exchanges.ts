import { storefrontPage } from '#operations/storefront/door'
import { jsonAnswer } from '#runtime/page'
import { publicSettings } from '../../settings/public.ts'
import { lookupPage } from '../lookup-page.ts'
import { whileOpen } from '../open-page.ts'
import { exchangePeople } from '../page-words.ts'

export default storefrontPage({
  method: 'GET',
  path: '/exchanges',
  description: 'Where a shopper begins an exchange or a return: a form for a person, JSON for a script.',
  trust: 'What the store says to everybody.',
  kind: 'link',
  feature: 'exchanges',
  people: exchangePeople,
  handler: (ctx, visit) =>
    whileOpen(ctx, async (settings) =>
      visit.wantsHtml ? lookupPage(ctx, settings) : jsonAnswer(publicSettings(settings)),
    ),
})
