import {
  count,
  freeObject,
  id,
  instant,
  line,
  named,
  object,
  text,
  walkedListOf,
  writeBody,
  z,
} from '#runtime/schema'
import { dataFault } from './free-json.ts'

export const notificationLevel = z.enum(['info', 'success', 'warning', 'error'])
export const notificationType = z
  .string()
  .regex(/^[a-z0-9-]{1,60}$/, 'must be 1 to 60 lower-case letters, digits and dashes')

/** A browser takes a backslash for a slash, and passes over spaces and line ends: `/\elsewhere` would leave the site. */
const link = text(1, 500)
  .regex(
    /^(?:https:\/\/[^\s\\]+|\/(?!\/)[^\s\\]*)$/,
    'must be an https address, or a path that starts with one /',
  )
  .describe('https address, or a path of the dashboard')

const data = freeObject
  .superRefine((value, check) => {
    const fault = dataFault(value)
    if (fault) check.addIssue({ code: z.ZodIssueCode.custom, message: fault })
  })
  .describe('Free JSON of your own, at most 8 KiB')

const writable = {
  type: notificationType,
  level: notificationLevel,
  title: line(1, 120),
  message: text(0, 1000).nullable(),
  link: link.nullable(),
  data: data.nullable(),
}

export const notification = named(
  'Notification',
  object({
    id,
    type: z.string(),
    level: notificationLevel,
    title: z.string(),
    message: z.string().nullable(),
    link: z.string().nullable(),
    data: freeObject.nullable(),
    source: z.enum(['system', 'api']),
    createdBy: id.nullable().describe('User id of who made it'),
    recipientIds: z
      .array(id)
      .nullable()
      .describe('Null: every member; else only these see, count and read it'),
    isRead: z.boolean().describe("By the creator of the calling key: each member's own"),
    readAt: instant.nullable(),
    createdAt: instant,
    updatedAt: instant,
  }),
)

export const notificationList = walkedListOf(notification)
  .extend({ unreadCount: count.describe('Unread on all pages, whatever the filters') })
  .strict()

const keys = Object.keys(notification.shape)

export const newNotificationBody = writeBody(
  writable,
  keys.filter((key) => !(key in writable)),
  ['title'],
)
export type NewNotification = z.infer<typeof newNotificationBody>

/** A Notification sent back is one too: its other fields are passed over. */
export const notificationIdBody = writeBody(
  { id: z.string().max(64) },
  keys.filter((key) => key !== 'id'),
  ['id'],
)

export const readAllAnswer = object({
  updated: count.describe('How many were unread until now'),
  unreadCount: count.describe('What arrived meanwhile'),
})
