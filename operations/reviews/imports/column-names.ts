/** Names of the columns of review files: our own, and those of other programs. */
import type { headers } from '#operations/store/index'

/**
 * The first name of each field is our own. Sources: Judge.me (`body`, `curated`, `product_handle`, `picture_urls`), Loox
 * (`review`, `nickname`, `full_name`, `date`, `handle`, `img`, `photo_url`, `verified_purchase`), Yotpo (`Review Content`,
 * `Review Score`, `Reviewer Display Name`, `Display Name`, `Review Creation Date`, `Review Status`, `Published Image
 * URLs`), Shopify Product Reviews (`author`, `state`, `location`, `created_at`, `replied_at`), Stamped (`reviewRating`,
 * `reviewTitle`, `reviewMessage`, `dateCreated`, `reviewReply`, `productUrl`, `published`), Okendo (`imageUrls`).
 */
export const reviewNames = {
  product_id: [['product_id', 'Shopify Product ID', 'Product External ID']],
  product_handle: [
    ['product_handle', 'handle'],
    ['Product URL', 'Product Link'],
  ],
  sku: [['sku', 'Product SKU', 'Variant SKU']],
  rating: [
    [
      ...['rating', 'Review Score', 'Review Rating', 'Score', 'Stars', 'Star Rating'],
      ...['nota', 'avaliação', 'puntuación', 'calificación'],
    ],
  ],
  reviewer_name: [
    [
      ...[
        'reviewer_name',
        'Reviewer Display Name',
        'Display Name',
        'Review Display Name',
        'author',
        'Author Name',
      ],
      ...['nickname', 'Customer Name', 'User Name'],
    ],
    ['Full Name', 'name', 'nome', 'nombre'],
  ],
  reviewer_email: [
    ['reviewer_email', 'email', 'e-mail', 'Author Email', 'Customer Email', 'Email Address', 'User Email'],
  ],
  title: [['title', 'Review Title', 'headline', 'título']],
  text: [
    [
      ...[
        'text',
        'body',
        'Review Content',
        'Review Message',
        'Review Body',
        'Review Text',
        'review',
        'content',
      ],
      ...['message', 'comment', 'comentário', 'comentario', 'texto'],
    ],
  ],
  review_date: [
    [
      ...[
        'review_date',
        'Review Creation Date',
        'created_at',
        'Date Created',
        'Creation Date',
        'Submitted At',
      ],
      ...['date', 'data', 'fecha'],
    ],
  ],
  picture_urls: [
    [
      ...[
        'picture_urls',
        'Published Image URLs',
        'photo_url',
        'photo_urls',
        'photos',
        'image_url',
        'image_urls',
      ],
      ...['images', 'img', 'pictures', 'Review User Photos', 'media_urls'],
    ],
  ],
  reply: [
    ['reply', 'Review Reply', 'Reply Content', 'Public Reply', 'Owner Reply', 'Comment Content', 'response'],
  ],
  reply_date: [['reply_date', 'replied_at', 'Review Reply Date', 'Comment Date', 'Comment Creation Date']],
  verified: [
    [
      'verified',
      'Verified Purchase',
      'Verified Buyer',
      'Is Verified Buyer',
      'Review Verified Type',
      'is_verified',
    ],
  ],
  status: [
    [
      ...[
        'status',
        'state',
        'curated',
        'published',
        'Review Status',
        'Review State',
        'is_published',
        'approved',
      ],
      ...['visible', 'visibility', 'Moderation Status', 'publicado'],
    ],
  ],
  /** Columns in which any value but a no keeps the review from being published. */
  hidden: [
    ['hidden', 'is_hidden', 'deleted', 'is_deleted', 'deleted_at', 'archived', 'is_archived', 'archived_at'],
    ['spam', 'is_spam', 'unpublished', 'rejected'],
  ],
} as const satisfies Record<string, headers.Names>
export type Column = keyof typeof reviewNames

/** The names that other programs give the status of a review, in the form of `foldHeader`. */
export const statusWords: Readonly<Record<string, 'approved' | 'default' | 'rejected'>> = {
  approved: 'approved',
  rejected: 'rejected',
  ...toEntries('default', [
    ...[
      'published',
      'active',
      'ok',
      'true',
      'yes',
      '1',
      'visible',
      'live',
      'enabled',
      'shown',
      'public',
      'accepted',
    ],
    ...[
      'publicado',
      'publicada',
      'aprovado',
      'aprovada',
      'aprobado',
      'aprobada',
      'ativo',
      'activo',
      'sim',
      'si',
    ],
  ]),
  ...toEntries('rejected', [
    ...[
      'spam',
      'hidden',
      'unpublished',
      'deleted',
      'archived',
      'trash',
      'disabled',
      'inactive',
      'flagged',
      'declined',
    ],
    ...[
      'false',
      'no',
      '0',
      'nao',
      'oculto',
      'oculta',
      'naopublicado',
      'naopublicada',
      'nopublicado',
      'nopublicada',
    ],
    ...['rejeitado', 'rejeitada', 'rechazado', 'rechazada', 'private', 'blocked', 'shadowbanned'],
  ]),
}

function toEntries<Kind>(kind: Kind, words: readonly string[]): Record<string, Kind> {
  return Object.fromEntries(words.map((word) => [word, kind]))
}

/** Values that mark a review as written by a buyer, in the form of `foldHeader`. `2` is Stamped's type of a purchase. */
export const verifiedWords: readonly string[] = [
  ...[
    'true',
    't',
    'yes',
    'y',
    '1',
    '2',
    'sim',
    'si',
    'verified',
    'buyer',
    'verifiedbuyer',
    'verifiedpurchase',
    'purchase',
  ],
]
