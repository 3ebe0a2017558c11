/** Schemas of the store: its profile, its record, its agency's branding, and the writable fields. */

import { reference } from '#runtime/references'
import {
  currency,
  email,
  freeObject,
  httpsUrl,
  id,
  instant,
  line,
  named,
  object,
  openObject,
  z,
} from '#runtime/schema'
import { allFeatures, subscriptionStatuses } from '../enums.ts'
import { isLocale, isTimezone } from './locality.ts'

const connectionTypes = ['qr', 'official', 'shared'] as const

const hours = z.number().int().min(1).max(720)
const attributionShape = {
  automationHours: hours,
  messagingCampaignHours: hours,
  newsletterHours: hours,
  stockNotificationHours: hours,
}

const settingsShape = {
  messagingConnectionType: z
    .enum(connectionTypes)
    .nullable()
    .describe('The connection that messages leave through; may be chosen before it is connected'),
  attribution: object(attributionShape).describe(
    'How many hours after a message an order may still be attributed to it',
  ),
  preferences: freeObject.describe('Free JSON of your own, at most 64 KiB'),
}

const profileShape = {
  name: line(1, 120),
  email: email.nullable().describe('Contact of the store'),
  phone: z.string().max(40).nullable().describe('Contact of the store, E.164'),
  timezone: z
    .string()
    .max(64)
    .refine(isTimezone, (value) => ({
      message: `${value} is no time zone: use an IANA name such as America/Sao_Paulo`,
    }))
    .describe('IANA name; every day, week and month is counted in it'),
  locale: z
    .string()
    .max(35)
    .refine(isLocale, (value) => ({ message: `${value} is no language tag: use one such as pt-BR` }))
    .describe('BCP 47'),
  logoUrl: reference('file', httpsUrl).nullable(),
}

const identityShape = {
  id,
  name: profileShape.name,
  domain: z.string(),
  slug: z.string(),
  publicId: z.string().describe("In the storefront's addresses; no secret"),
  platform: z.string().describe('sandbox, or the name of the ecommerce platform'),
}
const placeShape = {
  email: z.string().nullable(),
  phone: z.string().nullable(),
  country: z.string().describe('ISO 3166-1 alpha-2'),
  currency,
  timezone: z.string(),
  locale: z.string(),
  logoUrl: z.string().nullable(),
}
const subscriptionStatus = z.enum(subscriptionStatuses)

export const store = named(
  'Store',
  object({
    ...identityShape,
    connected: z.boolean().describe('The ecommerce platform is connected'),
    ...placeShape,
    plan: object({
      id: z.string(),
      name: z.string(),
      messagesPerCycle: z.number().int(),
      features: z.array(z.enum(allFeatures)),
    }),
    subscription: object({
      status: subscriptionStatus,
      currentPeriodEnd: instant,
      canWrite: z.boolean(),
    }),
    settings: object(settingsShape),
    joinedAt: instant,
    createdAt: instant,
    updatedAt: instant,
  }),
  { volatileFields: ['connected', 'plan', 'subscription', 'updatedAt'] },
)

export const storeRecord = named(
  'StoreRecord',
  object({
    ...identityShape,
    platformStoreId: z.string().nullable(),
    ...placeShape,
    agencyId: id.nullable(),
    planId: z.string(),
    subscriptionStatus,
    ...settingsShape,
    connections: z.array(
      object({
        port: z.string(),
        provider: z.string(),
        connected: z.boolean(),
        connectedAt: instant.nullable(),
      }),
    ),
    onboardingCompletedAt: instant.nullable(),
    joinedAt: instant,
    createdAt: instant,
    updatedAt: instant,
  }),
  { volatileFields: ['planId', 'subscriptionStatus', 'connections', 'updatedAt'] },
)

const brandingText = z.string().nullable()
export const branding = named(
  'Branding',
  object({
    hasBranding: z.boolean(),
    agencyName: brandingText,
    logoUrl: brandingText,
    faviconUrl: brandingText,
    primaryColor: brandingText,
    secondaryColor: brandingText,
    supportEmail: brandingText,
    supportPhone: brandingText,
    supportUrl: brandingText,
    dashboardDomain: brandingText,
    hideServiceBrand: z.boolean(),
  }),
)

const partialSettings = {
  messagingConnectionType: settingsShape.messagingConnectionType.optional(),
  attribution: object(attributionShape).partial().strict().optional(),
  preferences: settingsShape.preferences.optional(),
}

/** The writable fields of `PATCH /store`. Each setting may be given under `settings` or at the top level. */
export const storePatch = z
  .object({ ...profileShape })
  .partial()
  .extend({ settings: object(partialSettings).optional(), ...partialSettings })
  .strict()
export type StorePatch = z.infer<typeof storePatch>

const looseSettings = {
  messagingConnectionType: settingsShape.messagingConnectionType,
  attribution: object(attributionShape).partial().strict().describe(settingsShape.attribution.description!),
  preferences: settingsShape.preferences,
}
/**
 * The body schema in the API documentation, which only states the types of known fields. A field is validated only if it
 * differs from the stored value. Any other key is a preference.
 */
export const storePatchBody = openObject({
  name: z.string().describe('1 to 120 characters'),
  email: z.string().nullable().describe(profileShape.email.description!),
  phone: z.string().nullable().describe(profileShape.phone.description!),
  timezone: z.string().describe(profileShape.timezone.description!),
  locale: z.string().describe(profileShape.locale.description!),
  logoUrl: z.string().nullable().describe('A file of this store'),
  settings: object(looseSettings).partial().describe('The same three, nested'),
  ...looseSettings,
}).partial()

/** Keys of the responses of `GET /store` and `GET /store/information` that only the server writes. */
export const readOnlyKeys: ReadonlySet<string> = new Set(
  [...Object.keys(store.shape), ...Object.keys(storeRecord.shape)].filter(
    (key) => !Object.hasOwn(storePatch.shape, key),
  ),
)
