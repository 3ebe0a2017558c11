// What stars and reviews say in the same words.

export const ratingTexts = {
  en: {
    rated: '{{rating}} of 5 stars',
    count_one: '{{count}} review',
    count_other: '{{count}} reviews',
    write: 'Write a review',
  },
  'pt-BR': {
    rated: '{{rating}} de 5 estrelas',
    count_one: '{{count}} avaliação',
    count_other: '{{count}} avaliações',
    write: 'Avaliar o produto',
  },
  es: {
    rated: '{{rating}} de 5 estrellas',
    count_one: '{{count}} opinión',
    count_other: '{{count}} opiniones',
    write: 'Escribir una opinión',
  },
}

/** Of a request's link, where the theme gave it on, or the page's address has it (`?review_token=`). */
export const tokenOf = (attribute) =>
  attribute('token') || new URLSearchParams(location.search).get('review_token') || null

/** An average as people say it: one place at most. */
export const ratingOf = (average, { locale }) =>
  new Intl.NumberFormat(locale, { maximumFractionDigits: 1 }).format(average)

export const countOf = (count, t, { locale }) =>
  t(new Intl.PluralRules(locale).select(count) === 'one' ? 'count_one' : 'count_other', {
    count: new Intl.NumberFormat(locale).format(count),
  })
