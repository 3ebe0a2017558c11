import { isTimezone } from '#operations/store/index'
import { textColourOn } from '#runtime/contrast'
import { distinctList } from '#runtime/distinct-list'
import { colour, instant, named, object, wallClock, writeBody, z } from '#runtime/schema'
import { getEnglishTexts, type Words } from '#runtime/values/wording'
import { devices, link, pages, plainText, withVariables } from '../common-schema.ts'

const time = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'must be a time such as 09:00')
const localTime = wallClock.describe('Wall clock in `timezone`')

const countdownFields = {
  isEnabled: z.boolean(),
  type: z.enum(['fixed', 'daily', 'evergreen']),
  timezone: z
    .string()
    .max(64)
    .refine(isTimezone, (value) => ({
      message: `${value} is no time zone: use one such as America/Sao_Paulo`,
    }))
    .nullable()
    .describe("IANA name; null: the store's, as it is when read"),
  startLocal: localTime.nullable().describe('For `fixed`; null: at once'),
  endLocal: localTime.nullable().describe('For `fixed`'),
  dailyStart: time,
  dailyEnd: time.describe('Not after the start: on the next day'),
  weekdays: distinctList(
    z.array(z.number().int().min(1).max(7)).min(1).max(7),
    'must not name a day twice',
  ).describe('1 (Monday) to 7, of `daily`'),
  durationMinutes: z.number().int().min(5).max(10_080).describe('For `evergreen`, per visitor'),
  restartAfterHours: z
    .number()
    .int()
    .min(1)
    .max(720)
    .nullable()
    .describe('Null: never again for that visitor'),
  text: withVariables(plainText(1, 200), ['countdown']),
  afterEnd: z.enum(['hide', 'text']),
  endedText: withVariables(plainText(0, 200), []).nullable().describe('Needed with `text`'),
}
const countdown = object(countdownFields)
export type Countdown = z.infer<typeof countdown>

const text = withVariables(plainText(1, 200), [])
const announcement = object({ text, linkUrl: link.nullable(), isEnabled: z.boolean() })

const fields = {
  isEnabled: z.boolean(),
  countdown,
  announcements: z.array(announcement).max(10),
  rotationSeconds: z.number().int().min(2).max(60),
  animation: z.enum(['none', 'slide', 'fade']),
  backgroundColor: colour,
  textColor: textColourOn('backgroundColor'),
  timerColor: textColourOn('backgroundColor'),
  linkUrl: link.nullable(),
  isClosable: z.boolean(),
  isSticky: z.boolean(),
  pages,
  devices,
}
const content = object(fields)
export type CountdownContent = z.infer<typeof content>

const runFields = {
  state: z.enum(['off', 'scheduled', 'running', 'ended']).describe('As of now'),
  startsAt: instant.nullable().describe('Start of the current or next run'),
  endsAt: instant.nullable(),
}

export const countdownBar = named(
  'FlashCountdownBarSettings',
  object({
    ...fields,
    countdown: object({ ...countdownFields, ...runFields }),
    updatedAt: instant.nullable().describe('Null: never saved'),
  }),
  { volatileFields: ['countdown.state', 'countdown.startsAt', 'countdown.endsAt'] },
)

export const countdownInput = writeBody(
  {
    ...fields,
    countdown: writeBody(countdownFields, Object.keys(runFields)),
    announcements: z
      .array(
        object({
          text,
          linkUrl: link.nullable().default(null),
          isEnabled: z.boolean().default(true),
        }),
      )
      .max(10),
  },
  ['updatedAt'],
)

export const countdownWords = {
  countdown: {
    text: {
      en: 'Ends in {{countdown}}',
      'pt-BR': 'Termina em {{countdown}}',
      es: 'Termina en {{countdown}}',
    },
  },
} satisfies Words<CountdownContent>

export const defaultCountdown: CountdownContent = {
  isEnabled: false,
  countdown: {
    isEnabled: false,
    type: 'fixed',
    timezone: null,
    startLocal: null,
    endLocal: null,
    dailyStart: '00:00',
    dailyEnd: '23:59',
    weekdays: [1, 2, 3, 4, 5, 6, 7],
    durationMinutes: 60,
    restartAfterHours: null,
    ...getEnglishTexts(countdownWords).countdown,
    afterEnd: 'hide',
    endedText: null,
  },
  announcements: [],
  rotationSeconds: 5,
  animation: 'slide',
  backgroundColor: '#111827',
  textColor: '#ffffff',
  timerColor: '#f59e0b',
  linkUrl: null,
  isClosable: false,
  isSticky: true,
  pages: ['all'],
  devices: 'all',
}
