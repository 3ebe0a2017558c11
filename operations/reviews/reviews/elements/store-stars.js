// Shows the star rating of a product, below its title and on its card in lists.

import { h, trusted, useEffect } from '../../../storefront/script/client/elements.js'
import { findToken, formatCount, formatRating, ratingTexts, Stars } from './words.js'

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
  view: ProductStars,
}

function ProductStars({ data, card, attribute, host, page, productId, shop, t }) {
  const shownId = attribute('product-id') ?? productId
  const isPage = page === 'product' && shownId === productId
  const summary = card?.reviews ?? (data.summary?.productId === shownId ? data.summary : null)
  useEffect(() => {
    if (!isPage) return
    const removeMarkup = summary?.total ? addRatingMarkup(summary) : null
    const isRequested = location.hash === anchor || findToken(attribute)
    // Retries for 5 seconds, because the reviews element may not be on the page yet.
    let tries = isRequested ? 25 : 0
    const timer = setInterval(() => {
      if (tries-- <= 0 || scrollToReviews()) clearInterval(timer)
    }, 200)
    return () => {
      clearInterval(timer)
      removeMarkup?.()
    }
  }, [isPage, summary?.average, summary?.total])
  if (!summary) return null
  const { average, total } = summary
  if (total === 0 && !(isPage && data.form.allowWithoutPurchase)) return null
  // On a card the link leads to the product's page.
  const link = isPage ? null : host.closest('[data-product-id], [data-store-card]')?.querySelector('a[href]')
  const follow = (event) => {
    if (isPage && scrollToReviews()) event.preventDefault()
  }
  const label =
    total === 0
      ? t('write')
      : `${t('rated', { rating: formatRating(average, shop) })}, ${formatCount(total, t, shop)}`
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

/** Scrolls to the reviews element. Returns false if the page has none, or it does not appear yet. */
function scrollToReviews() {
  const reviews = document.querySelector('store-reviews')
  if (!reviews?.getClientRects().length) return false
  const isReduced = matchMedia('(prefers-reduced-motion: reduce)').matches
  reviews.scrollIntoView({ behavior: isReduced ? 'auto' : 'smooth', block: 'start' })
  reviews.tabIndex = -1
  reviews.focus({ preventScroll: true })
  return true
}

/** Adds structured data for search engines, unless the theme has it already. Returns a function that removes it. */
function addRatingMarkup({ average, total }) {
  const scripts = [...document.querySelectorAll('script[type="application/ld+json"]')]
  if (scripts.some(({ textContent }) => textContent.includes('aggregateRating'))) return
  const name = document.querySelector('meta[property="og:title"]')?.content || document.title
  return addStructuredData({
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

/** Adds a JSON-LD script to the page. Returns a function that removes it. */
function addStructuredData(data) {
  const script = document.createElement('script')
  script.type = 'application/ld+json'
  try {
    script.text = trusted('createScript', JSON.stringify(data))
  } catch {
    // The shop's Trusted Types policy forbids scripts, even scripts that contain only data.
    return () => {}
  }
  document.head.append(script)
  return () => script.remove()
}
