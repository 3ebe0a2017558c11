/** Schema of the request to send a message, with the fields that each type requires and allows. */
import { reference } from '#runtime/references'
import { id, object, text, z } from '#runtime/schema'
import { parameters } from '../schema.ts'

const sendType = z.enum(['text', 'image', 'video', 'audio', 'document', 'template'])
export type SendType = z.infer<typeof sendType>
export const captionAtMost = 1024
export const textAtMost = 4096

const given = object({
  type: sendType.optional().describe('Required without quickReplyId'),
  text: text(1, textAtMost)
    .regex(/\S/, 'must not be blank')
    .optional()
    .describe('A caption, of at most 1024 characters, with image, video and document'),
  mediaUrl: reference('file', z.string().min(1).max(2000)).optional().describe('`fileUrl` of an upload'),
  officialapiTemplateId: reference('template', z.number().int().min(1)).optional(),
  templateParameters: parameters.optional(),
  quickReplyId: id.optional().describe('Its text and media are sent, filled for this contact'),
  replyToMessageId: id.optional(),
  clientId: z
    .string()
    .regex(/^[!-~]{1,64}$/, 'must be 1 to 64 visible characters')
    .optional()
    .describe('The same one again sends nothing and answers the message of the first time'),
})
export type SendInput = z.infer<typeof given>

type Field = keyof SendInput

/** Required and allowed fields per type. */
const fields: Record<SendType, { required: Field[]; allowed: Field[] }> = {
  text: { required: ['text'], allowed: [] },
  image: { required: ['mediaUrl'], allowed: ['text'] },
  video: { required: ['mediaUrl'], allowed: ['text'] },
  document: { required: ['mediaUrl'], allowed: ['text'] },
  audio: { required: ['mediaUrl'], allowed: [] },
  template: { required: ['officialapiTemplateId'], allowed: ['templateParameters'] },
}
const contentFields: readonly Field[] = ['text', 'mediaUrl', 'officialapiTemplateId', 'templateParameters']

export const sendInput = given.superRefine((input, context) => {
  const fault = (field: Field, message: string): void =>
    context.addIssue({ code: 'custom', path: [field], message })
  const { type } = input
  if (input.quickReplyId !== undefined) {
    for (const field of ['type', ...contentFields] as const) {
      if (input[field] !== undefined) fault(field, 'comes from the quick reply: leave it out')
    }
    return
  }
  if (type === undefined) return fault('type', 'is required')
  const { required, allowed } = fields[type]
  for (const field of required) {
    if (input[field] === undefined) fault(field, `is required with the type ${type}`)
  }
  for (const field of contentFields) {
    if (input[field] !== undefined && !required.includes(field) && !allowed.includes(field)) {
      fault(field, `does not go with the type ${type}: leave it out`)
    }
  }
  if (type !== 'text' && (input.text?.length ?? 0) > captionAtMost) {
    fault('text', `must have at most ${captionAtMost} characters as a caption`)
  }
})
