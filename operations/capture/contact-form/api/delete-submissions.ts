import { operation } from '#runtime/operation'
import { count, id, object, z } from '#runtime/schema'
import { deleteSubmissions } from '../submissions.ts'

export default operation({
  method: 'POST',
  path: '/contact-form/submissions/delete',
  description: 'Delete submissions of the contact form; contacts and subscribers made from them stay.',
  details: 'Ids that are repeated or not of this store do not count.',
  words: 'throw entries of the contact form away, spam',
  scopes: ['platform:write'],
  readOnly: false,
  consequences: ['deletion'],
  feature: 'contact-form',
  input: { body: object({ ids: z.array(id).min(1).max(500) }) },
  answer: { status: 200, body: object({ deleted: count }) },
  transaction: 'statement',
  handler: (ctx, { body }) => deleteSubmissions(ctx, body.ids),
})
