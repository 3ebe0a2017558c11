import { operation } from '#runtime/operation'
import { publicationStatus, readPublication } from '../publication.ts'

export default operation({
  method: 'GET',
  path: '/newsletter/publication-status',
  description: 'Tell whether shoppers see the popup now, and what is in the way; the platform is asked live.',
  words: 'why does the popup not show on my site, is it live',
  scopes: ['platform:read'],
  readOnly: true,
  feature: 'newsletter',
  answer: { status: 200, body: publicationStatus },
  transaction: 'own',
  handler: (ctx) => readPublication(ctx),
})
