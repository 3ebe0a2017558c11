import { operation } from '#runtime/operation'
import { reviewSettings } from '../schema.ts'
import { reviewRules } from '../settings.ts'

export default operation({
  method: 'GET',
  path: '/product-reviews/settings',
  description:
    'Get how buyers are asked for reviews, what is published by itself, and how the widget looks; the defaults until it was first saved.',
  words: 'when are customers asked for an opinion, review requests',
  scopes: ['platform:read'],
  readOnly: true,
  feature: 'reviews',
  answer: { status: 200, body: reviewSettings },
  etag: true,
  handler: (ctx) => reviewRules.read(ctx),
})
