import { graphicColourOn, textColourOn } from '#runtime/contrast'
import { colour, id, instant, named, object, setOf, writeBody, z } from '#runtime/schema'
import { getEnglishTexts, type Words } from '#runtime/values/wording'
import { optionalText, pictureUrl, plainText, rating } from '../common-schema.ts'

const fields = {
  authorName: plainText(1, 120),
  authorTitle: optionalText(120).describe('City or job'),
  text: plainText(1, 2000),
  rating: rating.nullable(),
  photoUrl: pictureUrl,
  isEnabled: z.boolean(),
}

export const testimonial = named(
  'Testimonial',
  object({
    id,
    position: z.number().int().min(1).describe('From 1, without gaps'),
    ...fields,
    createdAt: instant,
    updatedAt: instant,
  }),
)

const readOnly = ['position', 'createdAt', 'updatedAt']
export const newTestimonial = writeBody(fields, [...readOnly, 'id'], ['authorName', 'text'])
export const changedTestimonial = writeBody({ id, ...fields }, readOnly, ['id'])
export type TestimonialChange = Omit<z.infer<typeof changedTestimonial>, 'id'>

const settingsFields = {
  isEnabled: z.boolean(),
  title: optionalText(120),
  layout: z.enum(['carousel', 'grid', 'list']),
  itemsPerView: z.number().int().min(1).max(6),
  autoplay: z.boolean(),
  autoplaySeconds: z.number().int().min(3).max(30),
  showRating: z.boolean(),
  showPhoto: z.boolean(),
  backgroundColor: colour,
  textColor: textColourOn('backgroundColor'),
  starColor: graphicColourOn('backgroundColor'),
  pages: setOf(z.enum(['all', 'home', 'category', 'product', 'cart']), 5, 1).describe('Pages it shows on'),
}
const settingsContent = object(settingsFields)
export type TestimonialSettings = z.infer<typeof settingsContent>

export const testimonialSettings = named(
  'TestimonialSettings',
  object({ ...settingsFields, updatedAt: instant.nullable().describe('Null: never saved') }),
)
export const testimonialSettingsInput = writeBody(settingsFields, ['updatedAt'])

export const testimonialWords = {
  title: {
    en: 'What our customers say',
    'pt-BR': 'O que dizem os clientes',
    es: 'Lo que dicen los clientes',
  },
} satisfies Words<TestimonialSettings>

export const defaultTestimonialSettings: TestimonialSettings = {
  isEnabled: false,
  ...getEnglishTexts(testimonialWords),
  layout: 'carousel',
  itemsPerView: 3,
  autoplay: true,
  autoplaySeconds: 6,
  showRating: true,
  showPhoto: true,
  backgroundColor: '#ffffff',
  textColor: '#111827',
  starColor: '#d97706',
  pages: ['home'],
}
