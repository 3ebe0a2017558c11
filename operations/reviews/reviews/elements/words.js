// The stars element, and texts shared by stars and reviews.

import { h } from '../../../storefront/script/client/elements.js'

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

/**
 * Finds the token of a review request's link: in the attribute that the theme sets, or in the page's URL
 * (`?review_token=`).
 */
export const findToken = (attribute) =>
  attribute('token') || new URLSearchParams(location.search).get('review_token') || null

/** Formats an average with at most one decimal. */
export const formatRating = (average, { locale }) =>
  new Intl.NumberFormat(locale, { maximumFractionDigits: 1 }).format(average)

export const formatCount = (count, t, { locale }) =>
  t(new Intl.PluralRules(locale).select(count) === 'one' ? 'count_one' : 'count_other', {
    count: new Intl.NumberFormat(locale).format(count),
  })

/** Shows five stars, of which `rating` are filled, with a label for screen readers. */
export function Stars({ rating, label, color, size = 16 }) {
  const share = `${Math.max(0, Math.min(100, (rating / 5) * 100))}%`
  return h(
    'span',
    {
      role: 'img',
      'aria-label': label,
      part: 'stars',
      style: `position:relative;display:inline-block;white-space:nowrap;forced-color-adjust:none;font-size:${size}px;line-height:1;letter-spacing:2px;color:#d1d5db`,
    },
    '★★★★★',
    h(
      'span',
      {
        'aria-hidden': 'true',
        style: `position:absolute;inset:0;inline-size:${share};overflow:hidden;color:${color}`,
      },
      '★★★★★',
    ),
  )
}
