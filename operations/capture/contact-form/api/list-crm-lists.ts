import { operation } from '#runtime/operation'
import { wholeListOf } from '#runtime/schema'
import { crmList, listCrmLists } from '../crm-lists.ts'

export default operation({
  method: 'GET',
  path: '/contact-form/crm-lists',
  description: 'List the contact lists that submissions of the form can be added to, by name.',
  words: 'lists that the contact form can add people to',
  scopes: ['platform:read'],
  readOnly: true,
  feature: 'contact-form',
  answer: { status: 200, body: wholeListOf(crmList) },
  async handler(ctx) {
    return { data: await listCrmLists(ctx) }
  },
})
