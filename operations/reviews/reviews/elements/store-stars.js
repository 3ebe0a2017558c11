// How a product is rated: below its title, and on its card in lists.

import { h, trusted, useEffect } from '../../../storefront/script/client/elements.js'
import { countOf, ratingOf, ratingTexts, Stars, tokenOf } from './words.js'

const anchor = '#store-reviews'

export default {
  css: `
:host { display: block; min-height: 28px; }
a { display: inline-flex; align-items: center; gap: 6px; min-height: 28px; text-decoration: none; font-size: 14px; }
a:hover .count { text-decoration: underline; }
`,
  texts: ratingTexts,
  places: ({ showStarsInProductList }, { page }) => [
    ...(page === 'product' ? [{ spot: 'below-title' }] : []),
    ...(showStarsInProductList ? [{ card: 'card-title' }] : []),
  ],
  view: StarsOf,
}

function StarsOf({ data, card, attribute, host, page, productId, shop, t }) {
  const wanted = attribute('product-id') ?? productId
  const isPage = page === 'product' && wanted === productId
  const summary = card?.reviews ?? (data.summary?.productId === wanted ? data.summary : null)
  useEffect(() => {
    if (!isPage) return
    const untell = summary?.total ? rated(summary) : null
    const isAsked = location.hash === anchor || tokenOf(attribute)
    // They may be placed a moment after the stars.
    let tries = isAsked ? 25 : 0
    const timer = setInterval(() => {
      if (tries-- <= 0 || leadToReviews()) clearInterval(timer)
    }, 200)
    return () => {
      clearInterval(timer)
      untell?.()
    }
  }, [isPage, summary?.average, summary?.total])
  if (!summary) return null
  const { average, total } = summary
  if (total === 0 && !(isPage && data.form.allowWithoutPurchase)) return null
  // Of a card the reviews are on its product's page.
  const link = isPage ? null : host.closest('[data-product-id]')?.querySelector('a[href]')
  const follow = (event) => {
    if (isPage && leadToReviews()) event.preventDefault()
  }
  const label =
    total === 0
      ? t('write')
      : `${t('rated', { rating: ratingOf(average, shop) })}, ${countOf(total, t, shop)}`
  const content = [
    h(Stars, { rating: average ?? 0, color: data.starColor, label }),
    h(
      'span',
      { class: 'count', part: 'count', 'aria-hidden': 'true' },
      total === 0 ? t('write') : `(${total})`,
    ),
  ]
  return link || isPage
    ? h(
        'a',
        { part: 'link', href: link ? `${link.href.split('#')[0]}${anchor}` : anchor, onClick: follow },
        content,
      )
    : h('span', { part: 'link' }, content)
}

/** Whether the page has them. */
function leadToReviews() {
  const reviews = document.querySelector('store-reviews')
  if (!reviews) return false
  const isStill = matchMedia('(prefers-reduced-motion: reduce)').matches
  reviews.scrollIntoView({ behavior: isStill ? 'auto' : 'smooth', block: 'start' })
  reviews.tabIndex = -1
  reviews.focus({ preventScroll: true })
  return true
}

/** What search engines read, unless the theme tells them already; answers what takes it away. */
function rated({ average, total }) {
  const told = [...document.querySelectorAll('script[type="application/ld+json"]')]
  if (told.some(({ textContent }) => textContent.includes('aggregateRating'))) return
  const name = document.querySelector('meta[property="og:title"]')?.content || document.title
  return structured({
    '@context': 'https://schema.org',
    '@type': 'Product',
    name,
    url: location.href.split(/[?#]/)[0],
    aggregateRating: {
      '@type': 'AggregateRating',
      ratingValue: average,
      reviewCount: total,
      bestRating: 5,
      worstRating: 1,
    },
  })
}

/** Puts data into the page for search engines; answers what takes it away. */
function structured(data) {
  const script = document.createElement('script')
  script.type = 'application/ld+json'
  try {
    script.text = trusted('createScript', JSON.stringify(data))
  } catch {
    // The shop lets nobody make scripts, not even of data.
    return () => {}
  }
  document.head.append(script)
  return () => script.remove()
}
