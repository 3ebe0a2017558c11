import { storefrontPage } from '#operations/storefront/index'
import { jsonAnswer } from '#runtime/page'
import { toPublicSettings } from '../../settings/public.ts'
import { renderLookupPage } from '../lookup-page.ts'
import { exchangePeople } from '../page-words.ts'
import { whileEnabled } from '../while-enabled.ts'

export default storefrontPage({
  method: 'GET',
  path: '/exchanges',
  description: 'The start of an exchange or a return: a form for a person, JSON for a script.',
  trust: 'Public settings of the store.',
  kind: 'link',
  feature: 'exchanges',
  people: exchangePeople,
  handler: (ctx, visit) =>
    whileEnabled(ctx, async (settings) =>
      visit.wantsHtml ? renderLookupPage(ctx, settings) : jsonAnswer(toPublicSettings(settings)),
    ),
})
