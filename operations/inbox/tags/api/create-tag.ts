import { operation } from '#runtime/operation'
import { writeBody } from '#runtime/schema'
import { tag } from '../../schema.ts'
import { createTag } from '../tags.ts'

const { name, color, ...readOnly } = tag.shape

export default operation({
  method: 'POST',
  path: '/inbox/tags',
  description: 'Make a tag for conversations.',
  words: 'new label for chats',
  scopes: ['platform:write'],
  readOnly: false,
  minimumRole: 'agent',
  feature: 'inbox',
  input: { body: writeBody({ name, color }, Object.keys(readOnly), ['name']) },
  answer: { status: 201, body: tag },
  refuses: { conflict: 'The name is taken, or there are 100 tags' },
  etag: true,
  example: { body: { name: 'VIP', color: '#b45309' } },
  handler: (ctx, { body }) => createTag(ctx, { name: body.name, color: body.color ?? '#6b7280' }),
})
