import { reference } from '#runtime/references'
import { id, instant, named, object, phone, text, z } from '#runtime/schema'
import { messageReason } from '../sending/message-reasons.ts'

const parameterList = z.array(text(1, 1024)).max(20)
export const templateParameters = object({
  header: parameterList.optional(),
  body: parameterList.optional(),
  buttons: parameterList.optional(),
}).describe('As many as the template has placeholders, in their order')

const messageType = z.enum(['text', 'image', 'video', 'document', 'template'])
const parameters = z.array(z.string())

export const sentMessage = named(
  'SentMessage',
  object({
    id,
    purpose: z.enum(['message', 'template-test', 'automation-test']),
    phone: z.string(),
    name: z.string().nullable(),
    type: messageType,
    text: z.string().nullable().describe('Of a template: as it was rendered'),
    mediaUrl: z.string().nullable(),
    officialapiTemplateId: z.number().int().nullable(),
    templateParameters: object({ header: parameters, body: parameters, buttons: parameters }).nullable(),
    connectionType: z.enum(['qr', 'official', 'shared']).describe('What it left through'),
    status: z.enum(['queued', 'sent', 'delivered', 'read', 'failed']),
    error: object({ code: messageReason, message: z.string() }).nullable(),
    sentAt: instant.nullable(),
    deliveredAt: instant.nullable(),
    readAt: instant.nullable(),
    failedAt: instant.nullable(),
    createdAt: instant,
    updatedAt: instant,
  }),
)

/** The writable fields of a single message. */
export const sendInput = {
  phone: phone.min(1),
  name: text(1, 120).nullable(),
  type: messageType.describe('Default template with officialapiTemplateId, else text'),
  text: text(1, 4096).nullable().describe('As a caption at most 1024'),
  mediaUrl: reference('file', text(1, 2000))
    .nullable()
    .describe("https address, or one of this server's storage"),
  officialapiTemplateId: reference('template', z.number().int()).nullable(),
  templateParameters: templateParameters.nullable(),
}
export const sendReadOnly = Object.keys(sentMessage.shape).filter((key) => !(key in sendInput))

export type SendInput = { phone: string } & {
  [K in keyof typeof sendInput]?: z.infer<(typeof sendInput)[K]> | undefined
}
