import { operation } from '#runtime/operation'
import { tag } from '../../schema.ts'
import { deleteTag, readTag } from '../tags.ts'

export default operation({
  method: 'DELETE',
  path: '/inbox/tags/:tagId',
  description: 'Delete a tag; it comes off every conversation.',
  words: 'throw a label away',
  scopes: ['platform:write'],
  readOnly: false,
  minimumRole: 'agent',
  feature: 'inbox',
  answer: { status: 204 },
  refuses: { not_found: 'There is no such tag' },
  ifMatch: { of: tag, read: (ctx, { params }) => readTag(ctx, params.tagId) },
  handler: (ctx, { params }) => deleteTag(ctx, params.tagId),
})
