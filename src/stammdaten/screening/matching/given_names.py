"""Given names and surnames that are one name in several spellings, languages or pet forms. Knows no lists, no scores.

Everything is written as `fold` writes it; a group ends at the bar. From general knowledge of names, not from any list.
"""

# Spellings of one name in several languages: as good as equal.
_SPELLINGS = """
    qaida qaeda kaida qaidah kaeda | jo cho | hezbollah hizbollah hizballah hisbollah hizbullah |
    mohammed mohamed muhammad mohammad mohamad muhamad muhammed muhamed mohamet mahomed mohd mohamud mohammod
    muhamat mohomed mehmed mehmet mahamat mamadou mukhammad magomed magomet mokhamad mokhammed muhammet mohummed
    md muhd | ahmed ahmad achmed akhmed akhmad ahmet achmad ahmadu amadou akhmet ahamed | mahmoud mahmud mahmood
    makhmud mehmood mahamud mahmut | hussein hussain husayn husain hossein hosein hussien houssein huseyin
    husein hossain khusein gusein huseynov hussin housein | hassan hasan hassen hasane khasan hasen | ali aly
    aliy | omar umar omer oumar umer | osama usama ousama oussama usamah | othman usman osman uthman ousmane
    otman uthmaan | yusuf yousef youssef yousif joseph yusef yosef yusif yussuf jusuf yusup iosif josef youssouf
    yousuf jozef giuseppe jose | ibrahim ebrahim ibrahima ibraheem brahim ibragim abraham avraam abram | ismail
    ismael ishmael esmail ismaeel esmaeil ismayil ismoil ismaiel | khalid khaled chaled halid khalit haled |
    saleh salih salah saalih | said sayid saeed saied saiid sayeed seid | sayyid sayed sayyed syed seyed seyyed
    saiyid sayid seyid | abdullah abdallah abdulla abdalla abdullahi abdellah abdoulaye abdollah ubaydullah |
    mustafa mostafa moustafa mustapha mostapha | jamal gamal djamal jamaal djamel cemal dzhamal | jafar jaafar
    djafar gafar cafer dzhafar | qasim kasim qassem kassem kassim qasem qassim ghassem ghasem gasim | qadhafi
    gaddafi kadhafi qaddafi gadhafi khadafi khadafy qadafi kaddafi gadafi | hamid hameed khamid | rashid rasheed
    rachid reshid | karim kareem kerim | rahim raheem | rahman rehman rachman raman rakhman | nasser nasir naser
    nassir nasr | amin ameen emin | amir emir ameer | mahdi mehdi mahdy | mansour mansur mansoor | abu abou aboo
    abi | abd abdul abdel abdal abdoul abdu abdou | husni hosni | yahya yahia jahja yehia | yaqub yakub yaqoub
    yaghoub yacoub jacob yakov jakob yakup iakov jakub | ayman aiman eiman | tariq tarek tarik tareq | zayd zaid
    zeid zayed | suleiman sulaiman sulayman soleiman suleyman solomon sulejman soleyman suliman | dawud daud
    daoud dawood davud david davit dawoud | musa mousa moussa moses moosa | isa issa eisa essa | ishaq isaac
    ishak isak iskhak | haroun harun aaron haroon | idris idriss idrees | fatima fatma fatemeh fatimah fatimata
    | aisha aysha ayesha aicha aishah | mariam maryam miriam mary maria marie marija mariya | vladimir wladimir
    volodymyr uladzimir vladimer wolodymyr uladzimer volodimir valdimir | alexander aleksandr alexandr oleksandr
    aleksander aliaksandr aleksandar alyaksandr alexandre alexandros alexandru iskander iskandar aljaksandr alessandro
    alejandro oleksander | sergei sergey serhii serhiy sergej serguei siarhei serge sergejs sergio sergii
    sjarhej | dmitry dmitri dmitriy dmitrii dmytro dimitri dzmitry dimitry dmitrij dzmitryj dimitrij | yevgeny
    evgeny yevgeniy evgeniy evgenii yevgenii yevhen eugene jewgeni evgeni jevgeni yauhen eugen evgenij yevgenij
    jauhen yevheniy | nikolai nikolay mykola mikalai nicholas nikolaj nicolas nikolaus nicolae mikola nikolaos
    mikalaj nicola | mikhail michail mihail mykhailo mikhael mikhailo michael michel mikail mihai michal mihailo
    mikael mikayil mykhaylo mikhajlo miguel michele | andrei andrey andrej andrii andriy andrew andreas andre
    andrzej andres andrea andrij | yuri yury yuriy yurii iurii jurij iouri juri jury jurii yurij georgiy georgy
    georgi george georgii georg jorge giorgi heorhii jerzy | aleksei alexei alexey aleksey oleksiy oleksii
    alexej aliaksei aleksej alexis aliaksej alyaksey | pavel pavlo paul pawel paval pablo paolo pavle | petr
    pyotr petro peter piotr pierre pedro petar petros | ivan iwan ioan john johann johannes juan jean jan
    giovanni johan joao | viktor victor wiktor viktar | konstantin constantin kostiantyn constantine kanstantsin
    konstantinos | vasily vasiliy vasilii vasyl vasili wassili basil vassily vasil vasilij | anatoly anatoliy
    anatolii anatoli anatol anatolij | valery valeriy valerii valeri walerij valerij | grigory grigoriy grigori
    hryhorii gregory grigorii gregor hryhoriy gregorio grigorij | oleg oleh aleh | igor ihor ihar | olga olha
    volha | elena yelena olena alena helena helen jelena | natalia natalya nataliya nataliia natalie natallia
    nathalie natalja | ekaterina yekaterina kateryna katerina katherine catherine katsiaryna | irina iryna irene
    | tatiana tatyana tetiana tetyana tatsiana tatjana | svetlana svitlana sviatlana | yulia julia yuliya iuliia
    juliya yuliia | anna hanna ganna ann anne ana | maksim maxim maksym | denis denys dzianis | artem artyom
    artyem artsiom artjom | kirill kyrylo cyril kiryl | nikita mykyta mikita | roman raman | ilya illia ilia
    ilja | yaroslav jaroslav iaroslav | vyacheslav viacheslav wjatscheslaw vjaceslav viachaslau vjacheslav |
    gennady gennadiy gennadii hennadii genadi gennadij henadz | leonid leanid | boris borys barys | stepan
    stefan stephan steven stephen stefano esteban | fedor fyodor theodor theodore feodor fjodor teodor | timur
    timour temur | ramzan ramazan ramadan ramadhan | arkady arkadiy arkadii arkadij | eduard edward edvard
    eduardo edouard | carl karl carlos carlo charles karol | frederic frederick friedrich fredrik frederik fred
    fryderyk federico | luis louis ludwig luigi lewis luiz | heinrich henry henri enrique hendrik henrik |
    wilhelm william guillermo guillaume willem | franz francis francois francisco francesco frank frantisek |
    philipp philip felipe philippe filip phillip filipp | thomas tomas tommaso tomasz | anton antonio anthony
    antoine antony antonius | martin martino marten | lukas lucas luca luke lukasz | markus marcus marco marko
    mark marc | mateo matthew matthias mathias matteo mateusz matvei | christoph christopher kristof christophe
    | kim gim ghim | lee yi ri rhee li | park pak bak | choi choe chwe | jong jung chong jeong chung | un eun |
    hyun hyon hyeon | young yong yeong | chang zhang | jang chang | chol chul cheol | myong myung myeong | song
    sung seong | kyong kyung gyeong | pyong byong byung pyung | hyong hyung hyeong | hun hoon | su soo | u woo |
    ju joo chu | wang wong vang | chen chan tan | lin lam lim | huang hwang wong | zhao chao chiu | zhou chou
    chow | xu hsu | liu lau | wu ng | zheng cheng | xie hsieh | guo kuo
"""

# Short and pet forms: nearly as good.
_NICKNAMES = """
    alexander aleksandr oleksandr alex sasha sascha sandy alexey alec xander alexandra | vladimir volodymyr vova
    volodya vlad wladimir | sergei sergey serhii serhiy seryozha | dmitry dmitri dmitriy dmytro dima mitya |
    mikhail michael mykhailo misha mike mick micky mickey mikey mischa | nikolai mykola nicholas kolya nick
    nicky nico niko klaus | yevgeny evgeny zhenya gene eugene yevgeniy | ivan vanya | pavel pasha | petr petya |
    konstantin kostya | anatoly tolya | grigory grisha | maksim max maxim maximilian | ekaterina katya kate
    katie katherine catherine kathy cathy kat kathryn | anastasia nastya | natalia natasha | tatiana tanya |
    maria masha mary molly polly | yuri yura | andrei andrew andy drew | william bill billy will willy willie
    liam | robert bob bobby rob robbie bert | richard dick rick ricky rich richie | james jim jimmy jamie | john
    jack johnny jon jonathan | joseph joe joey jose pepe | edward ed eddie ted teddy ned eduard | thomas tom
    tommy | charles charlie chuck chas | henry harry hank hal | george georgie | david dave davy | daniel dan
    danny | samuel sam sammy samantha | benjamin ben benny bibi | anthony tony antonio anton toni | steven steve
    stephen stevie | gregory greg | jeffrey jeff geoffrey geoff | lawrence larry laurence lars | ronald ron
    ronnie | donald don donnie | kenneth ken kenny | patrick pat paddy | timothy tim timmy | matthew matt |
    christopher chris kit christian | nathaniel nate nathan nat | theodore theo ted | frederick fred freddy
    fritz friedrich | francis frank franz francisco paco pancho | albert al bert alberto | alfred al fred alf |
    arthur art | walter walt | raymond ray | leonard leo len lenny | philip phil | peter pete | joshua josh |
    zachary zach zack | jacob jake | nicolas nico | gerald gerry jerry | vincent vince vinnie | victor vic |
    abraham abe | eugene gene | douglas doug | russell russ | phillip phil | andrew andy | elizabeth liz beth
    betty lisa eliza bess lizzie elisabeth elsa | margaret peggy maggie meg greta marge margarita | barbara barb
    babs | susan sue susie suzanne | deborah deb debbie | rebecca becky | jennifer jenny jen | jessica jess |
    patricia pat patty trish tricia | victoria vicky tori vika | alexandra alex sandra sasha | dorothy dot
    dottie | helen nell ellie elena | katherine kit | christina tina chris christine | theresa terry tess teresa
    | pamela pam | cynthia cindy | judith judy | josephine jo josie | johannes hans johann | joachim jochen
    achim | ulrich uli | wolfgang wolf | heinrich heinz | josef sepp jupp | guenter gunter gunther gunnar |
    francisco pancho paco | jesus chucho | ignacio nacho | guillermo memo | enrique quique | rafael rafa |
    roberto beto
"""


def _groups(text: str) -> dict[str, frozenset[int]]:
    members: dict[str, set[int]] = {}
    for number, group in enumerate(text.split("|")):
        for word in group.split():
            members.setdefault(word, set()).add(number)
    return {word: frozenset(numbers) for word, numbers in members.items()}


_SPELLED = _groups(_SPELLINGS)
_CALLED = _groups(_NICKNAMES)
_NONE: frozenset[int] = frozenset()


def variants(word: str) -> frozenset[str]:
    """Return marks that a word shares with every spelling and pet form of it."""
    spelled = {f"s{number}" for number in _SPELLED.get(word, _NONE)}
    return frozenset(spelled | {f"c{number}" for number in _CALLED.get(word, _NONE)})


def same_name(word: str, other: str) -> bool:
    """Return whether two words are spellings of one name in several languages."""
    groups = _SPELLED.get(word)
    return groups is not None and not groups.isdisjoint(_SPELLED.get(other, _NONE))


def nickname(word: str, other: str) -> bool:
    """Return whether one word is a short or pet form of the other."""
    groups = _CALLED.get(word)
    return groups is not None and not groups.isdisjoint(_CALLED.get(other, _NONE))
