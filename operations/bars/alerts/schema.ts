import { textColourOn } from '#runtime/contrast'
import { reference } from '#runtime/references'
import { colour, id, instant, named, object, setOf, writeBody, z } from '#runtime/schema'
import { devices, pages, plainText, platformId } from '../common-schema.ts'
import { type AlertType, alertKinds, alertTypes } from './types.ts'

export const alertType = z.enum(alertTypes)

const whole = (min: number, max: number) => z.number().int().min(min).max(max)

const fields = {
  isEnabled: z.boolean(),
  text: plainText(1, 200).describe('With the variables of its type'),
  windowHours: whole(1, 720).describe('How far back it looks'),
  minCount: whole(1, 1000).describe('Below it nothing shows'),
  initialDelaySeconds: whole(0, 300),
  displaySeconds: whole(2, 60),
  intervalSeconds: whole(3, 600).describe('From one going away to the next'),
  maxPerPage: whole(1, 50),
  maxPerSession: whole(1, 200).describe('Not below maxPerPage'),
  nameFormat: z.enum(['first-name', 'initial', 'hidden']).describe('Surnames are never shown'),
  showImage: z.boolean(),
  showTime: z.boolean(),
  isClosable: z.boolean(),
  linkToProduct: z.boolean(),
  randomize: z.boolean(),
  excludedProductIds: setOf(reference('product', platformId), 200),
  position: z.enum(['bottom-left', 'bottom-right', 'top-left', 'top-right']),
  backgroundColor: colour,
  textColor: textColourOn('backgroundColor'),
  borderRadius: whole(0, 40),
  pages,
  devices,
}
const content = object(fields)
export type AlertContent = z.infer<typeof content>

export const fomoAlert = named(
  'FomoAlert',
  object({
    id: id.nullable().describe('Null until it is created'),
    alertType,
    ...fields,
    createdAt: instant.nullable(),
    updatedAt: instant.nullable(),
  }),
)
export type FomoAlert = z.infer<typeof fomoAlert>

export const newAlert = writeBody({ alertType, ...fields }, ['id', 'createdAt', 'updatedAt'], ['alertType'])
export const changedAlert = writeBody(
  { id: z.string(), ...fields },
  ['alertType', 'createdAt', 'updatedAt'],
  ['id'],
)
export type AlertChange = Omit<z.infer<typeof changedAlert>, 'id'>

export const defaultAlert = (type: AlertType): AlertContent => {
  const { words, windowHours, minCount } = alertKinds[type]
  return {
    isEnabled: false,
    text: words.text.en,
    windowHours,
    minCount,
    initialDelaySeconds: 5,
    displaySeconds: 6,
    intervalSeconds: 15,
    maxPerPage: 5,
    maxPerSession: 20,
    nameFormat: 'first-name',
    showImage: true,
    showTime: true,
    isClosable: true,
    linkToProduct: true,
    randomize: false,
    excludedProductIds: [],
    position: 'bottom-left',
    backgroundColor: '#ffffff',
    textColor: '#111827',
    borderRadius: 8,
    pages: ['all'],
    devices: 'all',
  }
}
