import {
  count,
  cursorListOf,
  freeObject,
  id,
  instant,
  line,
  named,
  object,
  text,
  writeBody,
  z,
} from '#runtime/schema'
import { findDataIssue } from './data-limits.ts'

export const notificationLevel = z.enum(['info', 'success', 'warning', 'error'])
export const notificationType = z
  .string()
  .regex(/^[a-z0-9-]{1,60}$/, 'must be 1 to 60 lower-case letters, digits and dashes')

/** Browsers treat a backslash as a slash, and ignore spaces and line ends: `/\elsewhere` would leave the site. */
const link = text(1, 500)
  .regex(
    /^(?:https:\/\/[^\s\\]+|\/(?!\/)[^\s\\]*)$/,
    'must be an https address, or a path that starts with one /',
  )
  .describe('https address, or a path of the dashboard')

const data = freeObject
  .superRefine((value, check) => {
    const fault = findDataIssue(value)
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
    createdBy: id.nullable().describe('User id of its author'),
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

export const notificationList = cursorListOf(notification)
  .extend({ unreadCount: count.describe('Unread on all pages, whatever the filters') })
  .strict()

const keys = Object.keys(notification.shape)

export const newNotificationBody = writeBody(
  writable,
  keys.filter((key) => !(key in writable)),
  ['title'],
)
export type NewNotification = z.infer<typeof newNotificationBody>

/** Accepts a whole Notification; its other fields are ignored. */
export const notificationIdBody = writeBody(
  { id: z.string().max(64) },
  keys.filter((key) => key !== 'id'),
  ['id'],
)

export const readAllAnswer = object({
  updated: count.describe('How many were unread until now'),
  unreadCount: count.describe('Those that arrived meanwhile'),
})
