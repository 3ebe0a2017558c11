/** HTML that a merchant wrote, made harmless (rule 3). Pure: what is an asset of the store, the caller knows. */
import { createRequire } from 'node:module'
import type sanitizeHtml from 'sanitize-html'
import { isLinkUrl } from '#operations/storefront/door'

const require = createRequire(import.meta.url)

const keptTags =
  'p br hr h2 h3 h4 strong b em i u s sub sup blockquote ul ol li a img table caption thead tbody tr th td div span figure figcaption code pre'
const droppedWithContent = 'script style iframe object embed form svg math template noscript textarea'

/** `isAsset`: whether a picture's address may stay. */
export function cleanHtml(html: string, isAsset: (url: string) => boolean): string {
  // It has a parser of CSS with it: read by the first who cleans, not by every start.
  const sanitize: typeof sanitizeHtml = require('sanitize-html')
  const options = optionsFor(isAsset)
  let clean = html
  // What comes out must come out of itself as well: nothing that was text the first time is a tag the second.
  for (let pass = 0; pass < passesAtMost; pass += 1) {
    const again = sanitize(clean, options)
    if (again === clean) return clean
    clean = again
  }
  return sanitize(clean, { ...options, allowedTags: [] })
}

const passesAtMost = 6

/** The addresses of all pictures in it, before it is cleaned. */
export function picturesOf(html: string): string[] {
  if (!/<img/i.test(html)) return []
  const found = new Set<string>()
  cleanHtml(html, (url) => {
    found.add(url)
    return true
  })
  return [...found]
}

function optionsFor(isAsset: (url: string) => boolean): sanitizeHtml.IOptions {
  return {
    allowedTags: keptTags.split(' '),
    nonTextTags: droppedWithContent.split(' '),
    allowedAttributes: {
      '*': ['style'],
      a: ['href', 'title', 'target', 'rel'],
      img: ['src', 'alt', 'width', 'height'],
      th: ['colspan', 'rowspan'],
      td: ['colspan', 'rowspan'],
    },
    allowedSchemes: ['http', 'https', 'mailto', 'tel'],
    allowProtocolRelative: false,
    parseStyleAttributes: false,
    transformTags: {
      h1: 'h2',
      '*': (tagName, attributes) => ({ tagName, attribs: keptAttributes(tagName, attributes, isAsset) }),
    },
  }
}

type Attributes = Record<string, string>

function keptAttributes(tag: string, given: Attributes, isAsset: (url: string) => boolean): Attributes {
  const { style, href, src, target, rel: _ours, ...others } = given
  const kept: Attributes = {}
  if (tag === 'a' && href !== undefined && isLinkUrl(href)) kept.href = href
  if (tag === 'img' && src !== undefined && isAsset(src)) kept.src = src
  for (const [name, value] of Object.entries(others)) {
    if (!numeric.has(name) || plainNumber.test(value)) kept[name] = value
  }
  if (tag === 'a' && target) {
    kept.target = target.toLowerCase()
    // A window of any other name has its opener as well.
    if (!sameWindow.has(kept.target)) kept.rel = 'noopener noreferrer'
  }
  const plain = style === undefined ? '' : plainStyle(style)
  if (plain !== '') kept.style = plain
  return kept
}

const numeric = new Set(['width', 'height', 'colspan', 'rowspan'])
const plainNumber = /^\d{1,4}%?$/
const sameWindow = new Set(['_self', '_parent', '_top'])

const plainColour =
  /^(?:#(?:[0-9a-f]{3}|[0-9a-f]{4}|[0-9a-f]{6}|[0-9a-f]{8})|[a-z]{3,30}|(?:rgb|hsl)a?\([\d\s.,%/]{1,40}\))$/i
const plainValues: Readonly<Record<string, RegExp>> = {
  'text-align': /^(?:left|right|center|justify|start|end)$/i,
  color: plainColour,
  'background-color': plainColour,
}

/** Of a style, the declarations that can do nothing but colour and align. */
function plainStyle(style: string): string {
  const declarations: string[] = []
  for (const declaration of style.split(';')) {
    const colon = declaration.indexOf(':')
    const name = declaration.slice(0, Math.max(0, colon)).trim().toLowerCase()
    const value = declaration.slice(colon + 1).trim()
    if (Object.hasOwn(plainValues, name) && plainValues[name]!.test(value)) {
      declarations.push(`${name}:${value}`)
    }
  }
  return declarations.join(';')
}
