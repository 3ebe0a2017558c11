import { operation } from '#runtime/operation'
import { writeBody } from '#runtime/schema'
import { editTemplate } from '../edit.ts'
import { parseTemplateId, readTemplate } from '../json.ts'
import { template, templateInput, templateReadOnly } from '../schema.ts'

export default operation({
  method: 'PATCH',
  path: '/messaging/templates/:id',
  description: 'Change a message template and submit it for review again. Fields left out keep their value.',
  details:
    'Until it is approved again it cannot be sent. An approved one takes one edit in 24 hours and ten in 30 days. ' +
    'Where nothing really changes, it stays as it is.',
  words: 'rewrite a template, correct its wording',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'official-api',
  transaction: 'own',
  input: { body: writeBody(templateInput, templateReadOnly) },
  answer: { status: 200, body: template },
  refuses: {
    not_found: 'There is no such template',
    conflict: 'It cannot be changed now, or not here, or no official number is connected',
  },
  etag: true,
  example: { params: { id: '12' }, body: { footer: 'Responda SAIR para não receber mais' } },
  async handler(ctx, { params, body }) {
    const id = parseTemplateId(params.id)
    await editTemplate(ctx, id, body)
    return readTemplate(ctx, id)
  },
})
