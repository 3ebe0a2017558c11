import { operation } from '#runtime/operation'
import { readHealth } from '../health.ts'
import { phoneHealth } from '../schema.ts'

export default operation({
  method: 'GET',
  path: '/officialapi/phone-health',
  description: "Read the official number's quality and limits, and how much of the 24-hour limit is used.",
  details: 'The provider is asked if its last answer is older than five minutes.',
  words: 'risk of a ban, quality rating, sending limit of the number',
  scopes: ['platform:read'],
  readOnly: true,
  feature: 'official-api',
  transaction: 'own',
  answer: { status: 200, body: phoneHealth },
  refuses: { conflict: 'No official number is connected' },
  handler: (ctx) => readHealth(ctx),
})
