import { operation } from '#runtime/operation'
import { wholeListOf } from '#runtime/schema'
import { tag } from '../../schema.ts'
import { listTags } from '../tags.ts'

export default operation({
  method: 'GET',
  path: '/inbox/tags',
  description: "List the team's tags by name, each with how many conversations carry it.",
  words: 'labels for chats',
  scopes: ['platform:read'],
  readOnly: true,
  feature: 'inbox',
  answer: { status: 200, body: wholeListOf(tag) },
  handler: listTags,
})
