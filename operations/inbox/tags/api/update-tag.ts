import { operation } from '#runtime/operation'
import { writeBody } from '#runtime/schema'
import { tag } from '../../schema.ts'
import { changeTag, readTag } from '../tags.ts'

const { name, color, ...readOnly } = tag.shape

export default operation({
  method: 'PATCH',
  path: '/inbox/tags/:tagId',
  description: 'Rename or recolour a tag, at once on every conversation.',
  words: 'rename or recolour a label',
  scopes: ['platform:write'],
  readOnly: false,
  minimumRole: 'agent',
  feature: 'inbox',
  input: { body: writeBody({ name, color }, Object.keys(readOnly)) },
  answer: { status: 200, body: tag },
  refuses: { not_found: 'There is no such tag', conflict: 'Another tag has this name' },
  etag: true,
  ifMatch: { read: (ctx, { params }) => readTag(ctx, params.tagId) },
  handler: (ctx, { params, body }) => changeTag(ctx, params.tagId, body),
})
