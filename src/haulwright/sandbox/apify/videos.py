"""Videos of Instagram, TikTok and YouTube, in the fields of the actors that fetch them."""

from __future__ import annotations

from typing import Any

from haulwright.sandbox.apify.social import instagram_post, iso, owner_id
from haulwright.sandbox.apify.timeline import Post
from haulwright.sandbox.chance import identifier


def instagram_reel(post: Post) -> dict[str, Any]:
    """An item of the Instagram reel scraper."""
    item = instagram_post(post)
    code = item["shortCode"]
    return item | {
        "id": post.digits("reel", 19),
        "type": "Video",
        "productType": "clips",
        "url": f"https://www.instagram.com/reel/{code}/",
        "videoUrl": f"https://cdn.example/instagram/{code}.mp4",
        "videoDuration": _duration(post) + 0.5,
        "videoPlayCount": post.figure("plays", 42_000),
        "videoViewCount": post.figure("views", 17_000),
        "musicInfo": {"artist_name": post.subject, "song_name": "Original audio", "uses_original_audio": True},
    }


def tiktok_video(post: Post) -> dict[str, Any]:
    """An item of the TikTok scraper."""
    number = post.digits("tiktok", 19)
    return {
        "id": number,
        "text": post.caption,
        "textLanguage": "en",
        "createTime": int(post.published),
        "createTimeISO": iso(post),
        "isAd": False,
        "authorMeta": {
            "id": owner_id(post),
            "name": post.subject,
            "nickName": post.subject.replace("_", " ").title(),
            "verified": True,
            "signature": "Made slowly.",
            "fans": 20_000 + int(owner_id(post)) % 400_000,
            "heart": 1_200_000,
            "video": post.number,
        },
        "musicMeta": {"musicName": "original sound", "musicAuthor": post.subject, "musicOriginal": True},
        "webVideoUrl": f"https://www.tiktok.com/@{post.subject}/video/{number}",
        "mediaUrls": [],
        "videoMeta": {"height": 1024, "width": 576, "duration": _duration(post), "definition": "540p"},
        "diggCount": post.figure("likes", 6_500),
        "shareCount": post.figure("shares", 210),
        "playCount": post.figure("plays", 88_000),
        "collectCount": post.figure("saves", 340),
        "commentCount": post.figure("comments", 120),
        "mentions": [],
        "hashtags": [{"name": name} for name in post.hashtags],
        "isSlideshow": False,
        "isPinned": False,
        "input": post.subject,
    }


def youtube_video(post: Post) -> dict[str, Any]:
    """An item of the YouTube scraper."""
    code = identifier(post.seed, post.subject, post.number, "youtube", length=11)
    minutes, seconds = divmod(_duration(post) * 9, 60)
    return {
        "title": post.topic[0].capitalize(),
        "type": "video",
        "id": code,
        "url": f"https://www.youtube.com/watch?v={code}",
        "thumbnailUrl": f"https://cdn.example/youtube/{code}.jpg",
        "viewCount": post.figure("views", 31_000),
        "date": iso(post),
        "likes": post.figure("likes", 1_400),
        "location": None,
        "channelName": post.subject.replace("-", " ").title(),
        "channelUrl": f"https://www.youtube.com/@{post.subject}",
        "channelUsername": post.subject,
        "channelId": f"UC{identifier(post.seed, post.subject, 'channel', length=22)}",
        "numberOfSubscribers": 5_000 + int(owner_id(post)) % 80_000,
        "duration": f"00:{minutes:02}:{seconds:02}",
        "commentsCount": post.figure("comments", 85),
        "text": post.caption,
        "hashtags": [f"#{name}" for name in post.hashtags],
        "subtitles": None,
        "isMonetized": None,
        "commentsTurnedOff": False,
        "fromYTUrl": f"https://www.youtube.com/@{post.subject}/videos",
    }


def _duration(post: Post) -> int:
    return post.luck("duration").randint(9, 90)
